package secret_test

import (
	"testing"

	"github.com/pexctl/pex/engine/secret"
)

func TestCachedValuesFollowTheEnvironment(t *testing.T) {
	env := map[string]string{"KEY": "first-secret", "OTHER": "x"}
	built := 0
	get := func(c *secret.Cache, key string) *secret.Values {
		return c.Get(key, func(name string) string { return env[name] }, func(env func(string) string) *secret.Values {
			built++
			return secret.New(map[string]string{"KEY": env("KEY")})
		})
	}
	check := func(c *secret.Cache, key, secret string, wantBuilt int) {
		t.Helper()
		if clean, _ := get(c, key).Text(secret); clean != "[redacted KEY]" || built != wantBuilt {
			t.Errorf("%q, built %d times, want %d", clean, built, wantBuilt)
		}
	}
	c := &secret.Cache{}
	check(c, "a", "first-secret", 1)
	env["OTHER"] = "y"
	check(c, "a", "first-secret", 1)
	check(c, "b", "first-secret", 2)
	env["KEY"] = "second-secret"
	check(c, "a", "second-secret", 3)
	check(nil, "a", "second-secret", 4)
}
