// Package registry stores what the clients of a tenant register instead of a spec: connectors,
// models and agents of OpenSearch's ML Commons, and names of conversations. A registered agent is
// converted to a spec, checked, and added to the agents of its tenant.
//
//	body --credentials, convert, compile, Policy--> agents.Set.Add
//	    \--> registered/KIND/ID.json, durable before Create returns
//
// Registered agents use only models over HTTP and tools that start no program, and reach only
// what the Policy of the server allows. The package must not know HTTP.
package registry
