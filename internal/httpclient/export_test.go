package httpclient

// Public exports public.
var Public = public
