package journal

// WithoutVoided returns the records that are not voided by a later change record. The
// file keeps all of them; a replay uses these.
func WithoutVoided(recs []Record) []Record {
	var out []Record // nil = nothing is voided so far
	for i := range recs {
		if v := recs[i].Voids; recs[i].Kind == Change && v != 0 && v <= recs[i].Seq {
			if out == nil {
				out = append(make([]Record, 0, len(recs)), recs[:i]...)
			}
			out = recordsBefore(out, v)
		}
		if out != nil {
			out = append(out, recs[i])
		}
	}
	if out == nil {
		return recs
	}
	return out
}

// recordsBefore returns the records before a sequence number.
func recordsBefore(recs []Record, seq uint64) []Record {
	n := len(recs)
	for n > 0 && recs[n-1].Seq >= seq {
		n--
	}
	return recs[:n]
}
