// Package fleet connects commands with the workers that execute runs together: a Temporal
// namespace, and the store of what is too large for it.
//
//	flags, TEMPORAL_* and temporal.toml --> Connect --> Connection: client, codec, driver
package fleet
