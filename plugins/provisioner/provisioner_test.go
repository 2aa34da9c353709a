package provisioner

import (
	"errors"
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
)

func TestConfig(t *testing.T) {
	type config struct {
		Template string `json:"template"`
	}
	for _, tt := range []struct{ json, want, err string }{
		{``, "", ""},
		{`{"template":"blank"}`, "blank", ""},
		{`{"templat":"blank"}`, "", `provision: config: json: unknown field "templat"`},
		{`{} {}`, "", "provision: config: more than one JSON value"},
	} {
		var got config
		err := Config(eval.ProvisionRequest{Config: eval.JSON(tt.json)}, &got)
		if got.Template != tt.want {
			t.Errorf("Config(%s) = %q; want %q", tt.json, got.Template, tt.want)
		}
		text := ""
		var f *eval.Fault
		if errors.As(err, &f) {
			text = f.Error()
		}
		if text != tt.err {
			t.Errorf("Config(%s) error = %q; want %q", tt.json, text, tt.err)
		}
	}
}
