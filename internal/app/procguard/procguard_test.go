package procguard

import (
	"slices"
	"strings"
	"testing"
)

func TestEndedGroupsAreNotKilled(t *testing.T) {
	got := remaining(strings.NewReader("+20\n+30\n-20\nnonsense\n+1\n+0\n+40\n+PEX_CALL=a\n+PEX_CALL=b\n-PEX_CALL=a\n+OTHER=c\n"))
	if !slices.Equal(got, []string{"30", "40", "PEX_CALL=b"}) {
		t.Error(got)
	}
}
