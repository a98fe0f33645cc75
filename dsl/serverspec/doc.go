// Package serverspec compiles files of kind: Server, the configuration of
// pexctl serve, and files of kind: Tokens, the tokens of its clients.
//
//	tree --Compile--> Config {Listen, Agents, Auth, Tenants, Limits, CORS, TLS}
//	tree --CompileTokens--> []Token
//
// It compiles the specs of the agents to report their mistakes, and refuses
// settings that would expose agents: an address that other machines can reach
// without authentication, a token in place of its hash.
//
// The package opens no port and runs nothing.
package serverspec
