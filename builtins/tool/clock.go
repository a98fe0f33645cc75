package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	_ "time/tzdata" // time zones for machines without a database

	"github.com/pexctl/pex/dsl/strftime"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/tool"
)

// ClockConfig configures clock.
type ClockConfig struct {
	Timezone string `yaml:"timezone" doc:"Default time zone: an IANA name such as Europe/Berlin, or an offset such as +02:00."`
	Format   string `yaml:"format" doc:"Output format in strftime directives. Empty: RFC 3339 and the weekday."`
}

// Access implements tool.AccessDescriber.
func (*ClockConfig) Access() []string { return nil }

// Clock returns the current time.
var Clock = component.New("clock", "Returns the current date, time and weekday in a time zone.",
	func() ClockConfig { return ClockConfig{Timezone: "UTC"} }, newClock)

const clockInput = `{"type":"object","properties":{` +
	`"timezone":{"type":"string","description":"IANA time zone such as Europe/Berlin, or an offset such as +02:00 (optional)."}` +
	`},"required":[],"additionalProperties":false}`

type clock struct {
	info   tool.Info
	zone   *time.Location
	format string
	now    func() time.Time
}

var _ tool.Tool = (*clock)(nil)

func newClock(c *ClockConfig, s tool.Settings) (tool.Tool, error) {
	zone, err := location(c.Timezone)
	if err != nil {
		return nil, err
	}
	if err := strftime.Check(c.Format); err != nil {
		return nil, err
	}
	t := &clock{zone: zone, format: c.Format, now: s.Now}
	if t.now == nil {
		t.now = time.Now
	}
	t.info = toolInfo(s, "clock", "Returns the current date, time and weekday. Call it whenever an answer depends on the current date; never guess it.",
		clockInput, tool.ReadEffect)
	return t, nil
}

// Info implements tool.Tool.
func (t *clock) Info() tool.Info { return t.info }

// Call implements tool.Tool.
func (t *clock) Call(ctx context.Context, call *tool.Call) (*tool.Output, error) {
	args, err := arguments[struct {
		Timezone string `json:"timezone"`
	}](ctx, call)
	if err != nil {
		return nil, err
	}
	zone := t.zone
	if args.Timezone != "" {
		if zone, err = location(args.Timezone); err != nil {
			return nil, err
		}
	}
	now := t.now().In(zone)
	stamp, day := now.Format(time.RFC3339), now.Weekday().String()
	text := stamp + " " + day
	if t.format != "" {
		text = strftime.Format(now, t.format)
	}
	data, err := json.Marshal(map[string]any{"time": stamp, "weekday": day, "timezone": zone.String(), "unix": now.Unix(), "text": text})
	return &tool.Output{Text: text, Data: data}, err
}

// location returns a time zone by name or offset.
func location(name string) (*time.Location, error) {
	if t, err := time.Parse("-07:00", name); err == nil {
		_, seconds := t.Zone()
		return time.FixedZone(name, seconds), nil
	}
	switch strings.ToUpper(name) {
	case "", "Z":
		return time.UTC, nil
	case "LOCAL":
		return nil, fmt.Errorf("time zone %q depends on the machine; use a name such as Europe/Berlin", name)
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("unknown time zone %q; use an IANA name such as Europe/Berlin or America/New_York, or an offset such as +02:00", name)
	}
	return zone, nil
}
