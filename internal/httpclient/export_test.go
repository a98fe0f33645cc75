package httpclient

// Public is what the guard asks about an address that is dialled.
var Public = public
