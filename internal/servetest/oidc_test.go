//go:build unix

package servetest_test

import (
	"net/http"
	"testing"

	"github.com/pexctl/pex/internal/oidctest"
)

// A server starts while its issuer is down, and stores decisions of clients of the issuer
// with their name and the issuer.
func TestClientsOfAnIssuer(t *testing.T) {
	t.Parallel()
	key := oidctest.EC(t, "1")
	issuer := oidctest.New(t, key)
	issuer.Down.Store(true)
	files := authenticated("30s", "cid")
	files["spec.yaml"] = agent{name: "asks", steps: 1, tool: approveTool}.spec()
	files["server.yaml"] = serverFile("auth: {tokens: {file: tokens.yaml}, oidc: {issuer: \"" + issuer.URL + "\", audience: pex, subject: email}}")
	w := newWorld(t, files)
	w.start()
	as := func(claims map[string]any) string {
		return "authorization: Bearer " + key.Sign(issuer.Claims("pex", claims))
	}
	status := func(as string) int {
		t.Helper()
		r, err := w.do(http.MethodGet, "/v1/runs", "", as)
		if err != nil {
			t.Fatal(err)
		}
		return r.status
	}
	ann := as(map[string]any{"email": "ann@example.com", "groups": []string{"run", "approve", "staff"}})
	if got := status(ann); got != http.StatusServiceUnavailable {
		t.Errorf("issuer down: %d", got)
	}
	if got := status(bearer("cid")); got != http.StatusOK {
		t.Errorf("token of the file: %d", got)
	}
	issuer.Down.Store(false)
	w.until("the issuer is asked again", func() bool { return status(ann) == http.StatusOK })
	for name, claims := range map[string]map[string]any{
		"another audience": {"email": "ann@example.com", "groups": "run", "aud": "web"},
		"no email":         {"groups": "run"},
	} {
		if got := status(as(claims)); got != http.StatusUnauthorized {
			t.Errorf("%s: %d", name, got)
		}
	}
	w.as = ann
	w.create("asks", "one")
	path := ""
	w.until("the run asks", func() bool {
		if open := w.result("one").Interrupts; len(open) == 1 {
			path = open[0].Path
		}
		return path != ""
	})
	answer := `{"path":"` + path + `","do":"approve"}`
	if r, err := w.do(http.MethodPost, "/v1/runs/one/answers", answer, as(map[string]any{"email": "bob@example.com", "groups": "run"})); err != nil || r.status != http.StatusForbidden {
		t.Errorf("without the role approve: %v, %v", r, err)
	}
	if r, err := w.do(http.MethodPost, "/v1/runs/one/answers", answer, ann); err != nil || r.status != http.StatusOK {
		t.Fatalf("approve: %v, %v", r, err)
	}
	w.until("the run has ended", func() bool { return w.result("one").Status == "completed" })
	decisions := w.result("one").Decisions
	if len(decisions) != 1 || decisions[0].By.User != "ann@example.com" || decisions[0].By.Issuer != issuer.URL {
		t.Errorf("%+v", decisions)
	}
}
