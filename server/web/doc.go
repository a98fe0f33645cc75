// Package web is the user interface of the server: pages for runs, open questions, agents, chats,
// conversations, evaluations and usage.
//
//	http.Request -> access.Client -> data of a page -> html/template -> HTML
//
// The pages show what the API returns, work without JavaScript, and update themselves with it.
// Every text of a run is untrusted: html/template escapes it, and invisible characters are made
// visible. The content security policy allows only our own files. The package must not do what
// the API cannot.
package web
