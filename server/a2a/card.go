package a2a

import (
	"cmp"
	"fmt"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"
	"github.com/pexctl/pex/server/agents"
)

// cardOf returns the card of an agent on the server at base, whose clients need tokens.
func cardOf(a *agents.Agent, base string, needToken bool) *a2a.AgentCard {
	p := a.Program
	at := func(binding a2a.TransportProtocol, version a2a.ProtocolVersion) *a2a.AgentInterface {
		return &a2a.AgentInterface{URL: base + "/a2a/" + a.Name, ProtocolBinding: binding, ProtocolVersion: version}
	}
	modes := []string{"text/plain", "application/json"}
	skill := a2a.AgentSkill{ID: a.Name, Name: a.Name, Description: cmp.Or(p.Description, a.Name), Tags: []string{}}
	for i := range p.Tools {
		skill.Tags = append(skill.Tags, p.Tools[i].Name)
	}
	for _, parameter := range p.Parameters {
		if parameter.Name != "question" {
			skill.Description += fmt.Sprintf("\nParameter %s, in a data part: %s", parameter.Name, cmp.Or(parameter.Doc, string(parameter.Schema)))
		} else if question, ok := parameter.Default.(string); ok && question != "" {
			skill.Examples = []string{question}
		}
	}
	card := &a2a.AgentCard{
		Name: a.Name, Description: cmp.Or(p.Description, a.Name), Version: cmp.Or(p.Version, p.Digest),
		SupportedInterfaces: []*a2a.AgentInterface{
			at(a2a.TransportProtocolJSONRPC, a2a.Version), at(a2a.TransportProtocolHTTPJSON, a2a.Version),
			at(a2a.TransportProtocolJSONRPC, a2av0.Version), at(a2a.TransportProtocolHTTPJSON, a2av0.Version),
		},
		Capabilities:      a2a.AgentCapabilities{Streaming: true},
		DefaultInputModes: modes, DefaultOutputModes: modes, Skills: []a2a.AgentSkill{skill},
	}
	if needToken {
		card.SecuritySchemes = a2a.NamedSecuritySchemes{"bearer": a2a.HTTPAuthSecurityScheme{Scheme: "Bearer"}}
		card.SecurityRequirements = a2a.SecurityRequirementsOptions{{"bearer": {}}}
	}
	return card
}
