package journal

// Standing is the records that count: without those that a later change record
// made void. The file keeps them all; a run is run again from those that stand.
func Standing(recs []Record) []Record {
	var out []Record // nil = nothing is void so far
	for i := range recs {
		if v := recs[i].Voids; recs[i].Kind == Change && v != 0 && v <= recs[i].Seq {
			if out == nil {
				out = append(make([]Record, 0, len(recs)), recs[:i]...)
			}
			out = before(out, v)
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

// before is the records that stand before a sequence number.
func before(recs []Record, seq uint64) []Record {
	n := len(recs)
	for n > 0 && recs[n-1].Seq >= seq {
		n--
	}
	return recs[:n]
}
