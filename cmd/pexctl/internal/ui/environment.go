package ui

// variables are those of the environment that pexctl itself goes by, as its
// help has them.
var variables = [][2]string{
	{"PEX_HOME", "where runs and memory are kept (default: .pex at the project root)"},
	{"PEX_SET_<PATH>", "overrides a value of the spec, as --set does; dots are written __"},
	{"HTTPS_PROXY, HTTP_PROXY", "the proxy between here and the models, http://USER:PASSWORD@host:port; NO_PROXY lists hosts without"},
	{"PEX_CA_FILE", "PEM file of certificates to trust besides the machine's: those of your own CA"},
	{"PEX_CLIENT_CERT", "PEM file of the certificate that model servers are shown,"},
	{"PEX_CLIENT_KEY", "and of its key (default: it stands in the same file)"},
}
