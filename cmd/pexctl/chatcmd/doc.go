// Package chatcmd implements the command chat: a conversation with an agent, at a terminal or with
// plain lines.
//
//	flags -> a server: --server, or one within the process -> chat.Chat <-> a screen
//
// What a conversation does is in package chat.
package chatcmd
