// Package opensearch is the tools that read an OpenSearch cluster: they list
// its indices, show the fields of one, and search one.
//
//	All(sign) --> opensearch_list_index, opensearch_index_mapping, opensearch_search
//	Call: index --reach--> a name its author allows; query --question--> a body that touches nothing else
//	      --> one GET or POST _search, signed --> JSON, or a refusal as a sentence
//
// Nothing here writes, and no request has a part that a model chose but an
// index name of plain characters and a body that was read and written anew. A
// query can name other indices (lookups), run scripts, or hide either in a
// wrapper: the first is held to the same names, the others are refused.
//
// What it cannot see: an alias is a name, so what it stands for is up to the
// cluster, as are documents and fields that credentials may not read.
//
// It must not know AWS: who signs requests is passed in.
package opensearch
