package diff

import "strings"

// approvers determines whether a change lets more people approve than before.
func approvers(x *Change) {
	switch x.Path[strings.LastIndexByte(x.Path, '.')+1:] {
	case "approvers":
		switch x.Kind {
		case Removed:
			x.Effect, x.Note = Looser, "anyone who may answer can now approve"
		case Added:
			x.Effect, x.Note = Safer, "fewer people can approve"
		default:
			x.Note = "other people can approve"
		}
	case "four_eyes":
		switch {
		case x.Old == "true":
			x.Effect, x.Note = Looser, "those who started or changed the run can now approve"
		case x.New == "true":
			x.Effect, x.Note = Safer, "someone who neither started nor changed the run must approve"
		}
	}
}
