// Package agents holds the agents that a server offers: specs, compiled, and ready to start
// runs. They can be reloaded while runs execute; a run keeps the program with which it
// started.
package agents
