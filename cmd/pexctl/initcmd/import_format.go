package initcmd

import (
	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/dsl/convert"
	"github.com/pexctl/pex/dsl/convert/adk"
	"github.com/pexctl/pex/dsl/convert/aurite"
	"github.com/pexctl/pex/dsl/convert/crewai"
	"github.com/pexctl/pex/dsl/convert/dockeragent"
	"github.com/pexctl/pex/dsl/convert/opensearch"
	"github.com/pexctl/pex/dsl/convert/promptfoo"
)

// format is a file format that import converts.
type format struct {
	name, usage, args string
	about             string // below the usage; "" for nothing
	examples          []string
	folders           bool // a project folder can be given
	many              bool // several files can be given
	convert           func(convert.Input, ...convert.Input) (convert.Result, error)
	flags             []cli.Flag
}

// formats are in the order of the help.
var formats = []format{
	{
		name: "adk", usage: "Convert a Google ADK agent config", args: "FILE | DIR",
		examples: []string{"pexctl import adk my_agent # The file root_agent.yaml and the agents it refers to"},
		folders:  true, convert: adk.Convert,
	},
	{
		name: "aurite", usage: "Convert an Aurite project or agent", args: "FILE | DIR | -",
		examples: []string{
			"pexctl import aurite harbour # A project folder: all components in it",
			"pexctl import aurite config/projects/harbour.json # A project file",
			"pexctl import aurite agents.json --with llms.json --with mcp_servers.yaml --out harbour # The components of several files",
			`pexctl import aurite aurite.json --name "Weather Agent" --out agents/weather`,
		},
		folders: true, convert: aurite.Convert,
		flags: []cli.Flag{&cli.StringSliceFlag{Name: "with", Usage: "`PATH`: Another file or folder with components of the project"}},
	},
	{
		name: "crewai", usage: "Convert a CrewAI crew", args: "FILE... | DIR",
		examples: []string{
			"pexctl import crewai config/agents.yaml config/tasks.yaml",
			"pexctl import crewai src/my_crew/config # The folder of both files",
		},
		folders: true, many: true, convert: crewai.Convert,
	},
	{
		name: "docker-agent", usage: "Convert a docker agent (cagent) file", args: "FILE | -",
		examples: []string{"pexctl import docker-agent team.yaml --out agents/team"},
		convert:  dockeragent.Convert,
	},
	{
		name: "opensearch", usage: "Convert an OpenSearch agent", args: "FILE | -", about: "FILE is the body of POST /_plugins/_ml/agents/_register.",
		examples: []string{
			"pexctl import opensearch agent.json",
			"pexctl import opensearch agent.json --connector model.json # With the connector of its model",
			"pexctl import opensearch agent.json --connector planner.json --connector executor.json --connector mcp.json",
			"pexctl import opensearch agent.json --agent LTAUCJkB_DaNGdnFk4KF=executor.json # With the agent that executes its steps",
			"curl -s $OPENSEARCH_URL/_plugins/_ml/agents/$ID | pexctl import opensearch - --name triage --out agents/triage",
		},
		convert: opensearch.Convert,
		flags: []cli.Flag{
			&cli.StringSliceFlag{Name: "agent", Usage: "`ID=FILE`: Registration body of the agent in executor_agent_id (the id may be left out if there is only one)"},
			&cli.StringSliceFlag{Name: "connector", Usage: "`FILE` with the body of a connector, or of a model that contains one: first the planner's model, then the executor's; connectors of tool servers are recognized by their protocol"},
		},
	},
	{
		name: "promptfoo", usage: "Convert a promptfoo configuration to a spec and suites", args: "FILE | -",
		examples: []string{"pexctl import promptfoo promptfooconfig.yaml"},
		convert:  promptfoo.Convert,
	},
}

// ImportCommand returns "pexctl import".
func ImportCommand(env *ui.Env) *cli.Command {
	c := &cli.Command{
		Name: "import", Usage: "Convert agents of other tools to specs",
		Description: ui.Help("",
			"pexctl import docker-agent team.yaml # A docker agent (cagent) file",
			"pexctl import promptfoo promptfooconfig.yaml # A spec, and suites for pexctl eval",
			"pexctl import opensearch agent.json --connector model.json # A registration body and its model connector",
		),
	}
	for i := range formats {
		c.Subcommands = append(c.Subcommands, formats[i].command(env))
	}
	return c
}

func (f *format) command(env *ui.Env) *cli.Command {
	return &cli.Command{
		Name: f.name, Usage: f.usage, ArgsUsage: f.args, Description: ui.Help(f.about, f.examples...),
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "out", Usage: "Create the project in `DIR` (default: the name of the agent)"},
			&cli.StringFlag{Name: "name", Usage: "`NAME`: Name of the agent (default: that in the source)"},
			&cli.BoolFlag{Name: "force", Usage: "Overwrite existing files"},
			ui.OutputFlag(),
		}, f.flags...),
		Action: env.Action(withFlags(func(c *call) error { return importFrom(c, f) })),
	}
}
