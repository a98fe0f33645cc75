// Package bundle carries a program to other machines: one value of bytes, named by its SHA-256.
//
//	Program + Origin --Pack--> bytes       the resolved spec, the files that its components read, its pins
//	bytes + ID --Open--> Bundle            verified, unpacked into a folder of a cache
//	Bundle --Compile--> Program            the same program, or a BuildError
//	Bundle --Origin--> Origin              where its files are on this machine
//	Program + Input --PackRun--> bytes     a bundle with the files of the run's user
//	bytes + Machine --Env--> runs.Env      what executes that run on this machine
//
// The resolved spec is the Source of the program, in which includes, prompts, schemas, scripts,
// nested agents and overrides have replaced what named them. Compiling it reads no file, so a
// bundle has none of the files that the author compiled: no comments, no tests, nothing that the
// program does not use. The other files are those that a Config names with the tag path:"file", and
// the entries of pex.lock for the program's servers. Folders that tools read and write are not in
// it: such a tool runs on the machine that has them.
//
// Paths in a bundle are relative to the project, so a bundle shows nothing of the author's machine
// and is the same on each.
//
// The package must not know who stores bundles, or how they are compressed and encrypted.
package bundle
