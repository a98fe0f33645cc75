// Package modelrecord encodes model requests for journals and recordings by message and
// text segment, with a digest that identifies equal requests.
package modelrecord
