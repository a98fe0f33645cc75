// Package opensearch implements tools that read an OpenSearch cluster: they list its
// indices, show the fields of one, and search one.
//
//	All(sign) --> opensearch_list_index, opensearch_index_mapping, opensearch_search
//	Call: index --checkIndex--> a name that the author allows; query --body--> a body that reads nothing else
//	      --> one GET or POST _search, signed --> JSON, or an error message
//
// Nothing in this package writes. A request contains only two parts from the model: an
// index name of plain characters, and a body that was parsed, checked and encoded again.
// A query can reference other indices (lookups), run scripts, or hide either in a
// wrapper: lookups are subject to the same index rules, the others are rejected.
//
// The package cannot resolve aliases: what an alias refers to, and which documents and
// fields the credentials may read, is up to the cluster.
//
// The package must not depend on AWS. The Signer is passed in.
package opensearch
