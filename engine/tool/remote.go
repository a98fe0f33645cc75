package tool

// RemoteCaller is a Tool whose calls are requests of a protocol with spans of its own, such as
// MCP.
type RemoteCaller interface {
	// Remote describes the requests before any is sent.
	Remote() RemoteCall
}

// RemoteCall describes the requests of a call for those who observe it. What only the session
// of the call can know is empty in later sessions.
type RemoteCall struct {
	Protocol  string // such as mcp
	Method    string // such as tools/call
	Target    string // the server's name of a tool or prompt; "" = none
	Transport string // pipe or tcp
	Address   string // of the server; "" = a child process
	Port      int

	Version string // of the protocol
	Session string // id of the session at the server
	Error   string // kind of the server's failure: tool_error, or the code of its error; "" = none
	Code    string // of the server's error; "" = none
}
