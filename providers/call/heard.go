package call

// MaxReply is how much of one streamed reply is kept: text, thinking and the
// arguments of calls, in bytes. The longest that a model writes is a fraction.
const MaxReply = 4 << 20

// Heard counts what a stream has said. The bound of the transport counts frames
// too, which are many times what they carry.
type Heard int

// More adds so many bytes; the error ends a stream that says more than MaxReply.
func (h *Heard) More(bytes int) error {
	if *h += Heard(bytes); *h > MaxReply {
		return Bad("the reply is longer than %d bytes", MaxReply)
	}
	return nil
}
