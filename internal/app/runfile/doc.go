// Package runfile decides what becomes of the files of a run before it starts.
//
//	Attach: files that an LLM accepts -> artifacts of the home, engine.Input.Attachments
//	Readers: the folders of which the tools of a program read files
//
// A file that neither models nor tools can read is an error if it is an image or a PDF, or if
// the program takes files for models. The package starts no runs and knows no flags.
package runfile
