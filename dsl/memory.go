package dsl

import "github.com/pexctl/pex/dsl/diag"

// memoryStore checks that the store of conversations has an address if it needs one.
func (c *compiler) memoryStore() {
	if m := &c.doc.Memory; m.Backend == "postgres" && m.DSNEnv == "" {
		c.Report.Error(diag.MissingKey, c.tree.Get("memory").Get("backend").Position, "memory.backend is postgres, but memory.dsn_env is missing").
			Hint = "write dsn_env: NAME, the environment variable that has the address of the database"
	}
}
