// Package modelrecord encodes model requests for journals and recordings: by message
// and text segment, with a digest that tells whether two requests are the same.
package modelrecord
