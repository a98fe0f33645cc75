// Package attachment inspects files that models are to read: images and PDF.
//
//	Sniff: first bytes -> media type
//	Inspect: content -> model.Attachment with size, digest, dimensions or pages
//	Check: attachments of a run -> the limits of pex and of a provider
//	Attach, Load: messages -> messages with references, then with content from the home
//
// It trusts only the content, never the name of a file, and never decodes an image: a small
// file may have a huge one. It knows no runs and no providers.
package attachment
