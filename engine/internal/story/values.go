package story

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/evalengine/evalengine/engine/eval"
)

// JSON that reaches the language may be an agent's. What would be costly out of
// all proportion to its size stays the text that it was: numbers of more than
// maxDigits characters or powers of ten beyond maxExponent, and what is nested
// deeper than maxLevels.
const (
	maxDigits   = 400
	maxExponent = 400
	maxLevels   = 200
)

// jsonValue is fromJSON for a value that may be absent, which is null.
func jsonValue(j eval.JSON, what string) (cty.Value, error) {
	if j.IsZero() {
		return cty.NullVal(cty.DynamicPseudoType), nil
	}
	v, err := fromJSON(j)
	if err != nil {
		return cty.NilVal, fmt.Errorf("%s: %w", what, err)
	}
	return v, nil
}

// fromJSON makes a value of JSON: arrays become tuples, objects objects.
func fromJSON(data []byte) (cty.Value, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return cty.NilVal, fmt.Errorf("not JSON: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return cty.NilVal, errors.New("not JSON: there is more behind the value")
	}
	return toValue(v, 0), nil
}

func toValue(v any, level int) cty.Value {
	switch v := v.(type) {
	case bool:
		return cty.BoolVal(v)
	case string:
		return textValue(v)
	case json.Number:
		return numberValue(string(v))
	case []any:
		if level >= maxLevels {
			return rawText(v)
		}
		list := make([]cty.Value, len(v))
		for i, e := range v {
			list[i] = toValue(e, level+1)
		}
		return cty.TupleVal(list)
	case map[string]any:
		if level >= maxLevels {
			return rawText(v)
		}
		m := make(map[string]cty.Value, len(v))
		for k, e := range v {
			m[k] = toValue(e, level+1)
		}
		return cty.ObjectVal(m)
	}
	return cty.NullVal(cty.DynamicPseudoType)
}

func rawText(v any) cty.Value {
	b, err := json.Marshal(v)
	if err != nil {
		return cty.StringVal("")
	}
	return cty.StringVal(string(b))
}

func textValue(s string) cty.Value { return cty.StringVal(strings.ToValidUTF8(s, "\uFFFD")) }

func numberValue(s string) cty.Value {
	if len(s) > maxDigits || bigExponent(s) {
		return cty.StringVal(s)
	}
	n, err := cty.ParseNumberVal(s)
	if err != nil {
		return cty.StringVal(s)
	}
	return n
}

func bigExponent(s string) bool {
	i := strings.IndexAny(s, "eE")
	if i < 0 {
		return false
	}
	digits := strings.TrimLeft(s[i+1:], "+-0")
	n := 0
	for _, d := range digits {
		if n = n*10 + int(d-'0'); n > maxExponent {
			return true
		}
	}
	return false
}
