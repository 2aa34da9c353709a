package story

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/zclconf/go-cty-yaml"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

// addOwn adds what people know from HCL's other users and cty does not have.
func addOwn(all map[string]function.Function) {
	all["alltrue"] = truth(true)
	all["anytrue"] = truth(false)
	all["one"] = oneFunc()
	all["sum"] = sumFunc()
	all["length"] = lengthFunc()
	all["startswith"] = stringTest(strings.HasPrefix)
	all["endswith"] = stringTest(strings.HasSuffix)
	all["strcontains"] = stringTest(strings.Contains)
	all["basename"] = stringFunc(func(s string) (string, error) { return path.Base(s), nil })
	all["dirname"] = stringFunc(func(s string) (string, error) { return path.Dir(s), nil })
	all["sha256"] = stringFunc(func(s string) (string, error) {
		sum := sha256.Sum256([]byte(s))
		return hex.EncodeToString(sum[:]), nil
	})
	all["base64encode"] = stringFunc(func(s string) (string, error) {
		return base64.StdEncoding.EncodeToString([]byte(s)), nil
	})
	all["base64decode"] = stringFunc(func(s string) (string, error) {
		b, err := base64.StdEncoding.DecodeString(s)
		if err == nil && !utf8.Valid(b) {
			err = errors.New("what was encoded is not UTF-8 text")
		}
		return string(b), err
	})
	all["urlencode"] = stringFunc(func(s string) (string, error) { return url.QueryEscape(s), nil })
}

// truth is alltrue (true) or anytrue (false).
func truth(all bool) function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "list", Type: cty.List(cty.Bool)}},
		Type:   function.StaticReturnType(cty.Bool),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			unknown := false
			for it := args[0].ElementIterator(); it.Next(); {
				_, v := it.Element()
				switch {
				case !v.IsKnown():
					unknown = true
				case v.IsNull() && all, !v.IsNull() && v.True() != all:
					return cty.BoolVal(!all), nil
				}
			}
			if unknown {
				return cty.UnknownVal(cty.Bool), nil
			}
			return cty.BoolVal(all), nil
		},
	})
}

func isSequence(t cty.Type) bool { return t.IsListType() || t.IsSetType() || t.IsTupleType() }

func oneFunc() function.Function {
	pick := func(v cty.Value) (cty.Value, error) {
		if !isSequence(v.Type()) {
			return cty.NilVal, function.NewArgErrorf(0, "a list, set or tuple is required")
		}
		switch n := v.LengthInt(); n {
		case 0:
			return cty.NullVal(cty.DynamicPseudoType), nil
		case 1:
			it := v.ElementIterator()
			it.Next()
			_, e := it.Element()
			return e, nil
		default:
			return cty.NilVal, function.NewArgErrorf(0, "there are %d elements; one or none is required", n)
		}
	}
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "list", Type: cty.DynamicPseudoType}},
		Type: func(args []cty.Value) (cty.Type, error) {
			if !args[0].IsKnown() || (args[0].Type().IsSetType() && !args[0].IsWhollyKnown()) {
				return cty.DynamicPseudoType, nil
			}
			v, err := pick(args[0])
			if err != nil {
				return cty.NilType, err
			}
			return v.Type(), nil
		},
		Impl: func(args []cty.Value, t cty.Type) (cty.Value, error) {
			if t == cty.DynamicPseudoType && !args[0].IsWhollyKnown() {
				return cty.DynamicVal, nil
			}
			return pick(args[0])
		},
	})
}

func sumFunc() function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "list", Type: cty.DynamicPseudoType}},
		Type:   function.StaticReturnType(cty.Number),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			if !isSequence(args[0].Type()) {
				return cty.NilVal, function.NewArgErrorf(0, "a list, set or tuple is required")
			}
			total := cty.Zero
			for it := args[0].ElementIterator(); it.Next(); {
				_, v := it.Element()
				n, err := convert.Convert(v, cty.Number)
				if err != nil || n.IsNull() {
					return cty.NilVal, function.NewArgErrorf(0, "every element must be a number")
				}
				total = total.Add(n)
			}
			return total, nil
		},
	})
}

// lengthFunc counts the elements of a collection, or the characters of a text
// as people see them.
func lengthFunc() function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "value", Type: cty.DynamicPseudoType, AllowUnknown: true, AllowDynamicType: true}},
		Type: func(args []cty.Value) (cty.Type, error) {
			t := args[0].Type()
			if t == cty.String || t == cty.DynamicPseudoType || t.IsCollectionType() || t.IsTupleType() || t.IsObjectType() {
				return cty.Number, nil
			}
			return cty.Number, function.NewArgErrorf(0, "a text, list, set, map, tuple or object is required")
		},
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			v := args[0]
			switch t := v.Type(); {
			case t == cty.DynamicPseudoType:
				return cty.UnknownVal(cty.Number), nil
			case t == cty.String:
				return stdlib.Strlen(v)
			case t.IsTupleType():
				return cty.NumberIntVal(int64(t.Length())), nil
			case t.IsObjectType():
				return cty.NumberIntVal(int64(len(t.AttributeTypes()))), nil
			}
			return v.Length(), nil
		},
	})
}

func stringTest(test func(s, part string) bool) function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "text", Type: cty.String}, {Name: "part", Type: cty.String}},
		Type:   function.StaticReturnType(cty.Bool),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			return cty.BoolVal(test(args[0].AsString(), args[1].AsString())), nil
		},
	})
}

func stringFunc(f func(string) (string, error)) function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "text", Type: cty.String}},
		Type:   function.StaticReturnType(cty.String),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			out, err := f(args[0].AsString())
			if err != nil {
				return cty.NilVal, function.NewArgError(0, err)
			}
			return cty.StringVal(out), nil
		},
	})
}

// decoder is a function from a text to a value of any type.
func decoder(decode func(string) (cty.Value, error)) function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "text", Type: cty.String}},
		Type: func(args []cty.Value) (cty.Type, error) {
			if !args[0].IsKnown() {
				return cty.DynamicPseudoType, nil
			}
			v, err := decode(args[0].AsString())
			if err != nil {
				return cty.NilType, function.NewArgError(0, err)
			}
			return v.Type(), nil
		},
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			return decode(args[0].AsString())
		},
	})
}

func jsonDecodeFunc() function.Function {
	return decoder(func(s string) (cty.Value, error) { return fromJSON([]byte(s)) })
}

// The text of yamldecode may be an agent's: references to anchors multiply.
const (
	maxYAML    = 1 << 20
	maxAliases = 16
)

func yamlDecodeFunc() function.Function {
	return decoder(func(s string) (cty.Value, error) {
		if len(s) > maxYAML {
			return cty.NilVal, fmt.Errorf("YAML larger than %d KiB", maxYAML>>10)
		}
		if strings.Contains(s, "&") && strings.Count(s, "*") > maxAliases {
			return cty.NilVal, fmt.Errorf("YAML with more than %d references to anchors", maxAliases)
		}
		return yaml.YAMLDecodeFunc.Call([]cty.Value{cty.StringVal(s)})
	})
}
