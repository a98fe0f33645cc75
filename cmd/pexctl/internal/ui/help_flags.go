package ui

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// Headings under which help lists flags, in order. The heading of a flag is its
// Category; flags without one come first.
const (
	GroupCommon  = ""
	GroupCases   = "Case selection"
	GroupInput   = "Input"
	GroupReplay  = "Replay and recording"
	GroupCompare = "Comparison and gates"
	GroupCost    = "Worst-case cost"
	GroupRunning = "Execution"
	GroupOutput  = "Output"
	GroupReports = "Reports"
	GroupSpec    = "Spec and trust"
	GroupStorage = "Storage"
	groupGlobal  = "Global flags"
)

// fewFlags is the maximum number of flags without headings.
const fewFlags = 10

var groupOrder = []string{
	GroupCommon, GroupCases, GroupInput, GroupReplay, GroupCompare, GroupCost, GroupRunning, GroupOutput, GroupReports,
	GroupSpec, GroupStorage, groupGlobal,
}

// Group puts flags under a heading of the help.
func Group(heading string, flags ...cli.Flag) []cli.Flag {
	for _, f := range flags {
		switch f := f.(type) {
		case *cli.BoolFlag:
			f.Category = heading
		case *cli.StringFlag:
			f.Category = heading
		case *cli.StringSliceFlag:
			f.Category = heading
		case *cli.IntFlag:
			f.Category = heading
		case *cli.Int64Flag:
			f.Category = heading
		case *cli.Float64Flag:
			f.Category = heading
		case *cli.DurationFlag:
			f.Category = heading
		case outputFlag:
			f.Category = heading
		}
	}
	return flags
}

// groupOf returns the heading of a flag.
func groupOf(f cli.Flag) string {
	if c, ok := f.(cli.CategorizableFlag); ok {
		return c.GetCategory()
	}
	return GroupCommon
}

var helpRow = [2]string{"-h, --help", "Show this help"}

// flagGroups lists the flags of a command under their headings.
func flagGroups(b *strings.Builder, c *cli.Command, width int) {
	rows := map[string][][2]string{}
	n := 0
	for _, f := range c.Flags {
		group := groupOf(f)
		if slices.Contains(f.Names(), "help") {
			continue
		}
		if group != groupGlobal {
			n++
		}
		rows[group] = append(rows[group], flagRow(f))
	}
	rows[groupGlobal] = append(rows[groupGlobal], helpRow)
	if n <= fewFlags {
		var all [][2]string
		for _, group := range groupOrder[:len(groupOrder)-1] {
			all = append(all, rows[group]...)
		}
		rows = map[string][][2]string{GroupCommon: all, groupGlobal: rows[groupGlobal]}
	}
	first := 0
	for _, group := range rows {
		for _, r := range group {
			first = max(first, len(r[0]))
		}
	}
	for _, group := range groupOrder {
		if len(rows[group]) == 0 {
			continue
		}
		heading := group
		switch {
		case group == GroupCommon && n <= fewFlags:
			heading = "Flags"
		case group == GroupCommon:
			heading = "Common flags"
		}
		b.WriteString("\n" + heading + ":\n")
		alignedColumns(b, rows[group], first, width)
	}
}

// flagRow returns a flag with its short name and the name of its value, and its
// usage. In the usage text, the name of the value is quoted; if a colon follows,
// it is removed there.
func flagRow(f cli.Flag) [2]string {
	about := ""
	if d, ok := f.(cli.DocGenerationFlag); ok {
		about = d.GetUsage()
	}
	name := "    --" + f.Names()[0]
	if names := f.Names(); len(names) > 1 && len(names[1]) == 1 {
		name = "-" + names[1] + ", --" + names[0]
	}
	if parts := strings.SplitN(about, "`", 3); len(parts) == 3 {
		name += " " + parts[1]
		var only bool
		if about, only = strings.CutPrefix(parts[2], ": "); !only || parts[0] != "" {
			about = parts[0] + parts[1] + parts[2]
		}
	}
	if _, many := f.(*cli.StringSliceFlag); many {
		about += " (repeatable)"
	}
	return [2]string{name, about}
}
