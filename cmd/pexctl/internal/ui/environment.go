package ui

// variables are the environment variables of pexctl itself, for its help.
var variables = [][2]string{
	{"PEX_HOME", "Home directory for runs and memory (default: .pex at the project root)"},
	{"PEX_SERVER_TOKEN", "Token for --server"},
	{"PEX_SET_<PATH>", "Override a value of the spec, like --set; write __ for each dot"},
	{"HTTPS_PROXY, HTTP_PROXY", "Proxy for requests, http://USER:PASSWORD@host:port"},
	{"NO_PROXY", "Hosts to connect to without the proxy"},
	{"PEX_CA_FILE", "PEM file of CA certificates to trust in addition to the system's"},
	{"PEX_CLIENT_CERT", "PEM file of the client certificate for model servers"},
	{"PEX_CLIENT_KEY", "PEM file of its key (default: PEX_CLIENT_CERT)"},
	{"NO_COLOR, FORCE_COLOR", "Turn colors off or on, unless --color is given"},
}
