// Package initcmd is `pexctl init`, `new` and `import`: the commands that create
// a project.
//
//	answers, a sample, or another project's files --builtins/scaffold--> files, tested before they are written
//
// It knows no component by name and no other command.
package initcmd
