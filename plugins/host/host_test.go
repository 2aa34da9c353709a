package host

import (
	"errors"
	"reflect"
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
)

type config struct {
	Model    string   `json:"model"`
	MaxTurns int      `json:"max_turns"`
	Args     []string `json:"args"`
}

func TestConfig(t *testing.T) {
	for _, tt := range []struct {
		name, json string
		want       config
		err        string
	}{
		{"absent", ``, config{}, ""},
		{"all", `{"model":"m","max_turns":3,"args":["-x"]}`, config{"m", 3, []string{"-x"}}, ""},
		{"null is the zero value", `{"model":null}`, config{}, ""},
		{"unknown field", `{"modle":"m"}`, config{}, `host_config: config: json: unknown field "modle"`},
		{"two values", `{"model":"m"} {}`, config{Model: "m"}, `host_config: config: more than one JSON value`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got config
			err := Config(eval.SessionSpec{Config: eval.JSON(tt.json)}, &got)
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("config = %+v; want %+v", got, tt.want)
			}
			if text(err) != tt.err {
				t.Errorf("error = %q; want %q", text(err), tt.err)
			}
			var f *eval.Fault
			if err != nil && (!errors.As(err, &f) || f.Retry != eval.RetryStop) {
				t.Errorf("error = %#v; want a fault that stops the host", err)
			}
		})
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
