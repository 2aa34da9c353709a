package conform

import (
	"reflect"
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
)

func TestProblems(t *testing.T) {
	good := eval.Description{
		Name: "claude-code", Version: "1", Capabilities: []string{"multi_turn"},
		Schema: eval.Schema{Attributes: []eval.Attribute{
			{Name: "model", Type: "string", Default: eval.JSON(`"a"`), Enum: []string{"a", "b"}},
		}},
		Model: &eval.ModelUse{API: "openai-chat"},
	}
	if got := Problems(good); got != nil {
		t.Errorf("Problems of a good description = %q", got)
	}
	bad := eval.Description{
		Name: "Claude Code", Capabilities: []string{"multi-turn", "usage", "usage"},
		Schema: eval.Schema{Attributes: []eval.Attribute{
			{Name: "maxTurns", Default: eval.JSON("x")},
			{Name: "n", Type: "number", Required: true, Default: eval.JSON("1"), Enum: []string{"2"}},
			{Name: "n", Type: "number"},
			{Name: "size", Type: "number", Format: eval.FormatRegex},
		}},
		Model: &eval.ModelUse{API: "soap"},
	}
	want := []string{
		`name "Claude Code" is not of the form a-b-c`,
		`no version`,
		`capability "multi-turn" is not snake_case`,
		`capability "usage" is there twice`,
		`attribute "maxTurns" is not snake_case`,
		`attribute "maxTurns" has no type`,
		`attribute "maxTurns" has a default that is not JSON`,
		`attribute "n" is required and has a default`,
		`attribute "n" has an enum and is no string`,
		`attribute "n" has a default that is not in its enum`,
		`attribute "n" is there twice`,
		`attribute "size" has a format and holds no string`,
		`model API "soap" is unknown`,
	}
	if got := Problems(bad); !reflect.DeepEqual(got, want) {
		t.Errorf("Problems =\n%q\nwant\n%q", got, want)
	}
}
