// Module plain is what the tests of package wasm load: scorers that behave, and
// some that do not.
package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/scorers/scorer"
)

func init() {
	scorer.Module("plain", "1.2.3", "Scorers for tests.")
	measure("count", count, eval.PartTranscript)
	assert("contains", contains, eval.PartAnswer)
	assert("fails", func(*scorer.Input, scorer.Params) (scorer.Result, error) {
		return scorer.Result{}, errors.New("no idea")
	})
	assert("panics", func(*scorer.Input, scorer.Params) (scorer.Result, error) {
		var m map[string]int
		m["x"] = 1
		return scorer.Result{}, nil
	})
	measure("nan", func(*scorer.Input, scorer.Params) (scorer.Result, error) {
		return scorer.Value(math.NaN(), ""), nil
	})
	measure("loops", func(*scorer.Input, scorer.Params) (scorer.Result, error) {
		for {
		}
	})
	measure("deadlocks", func(*scorer.Input, scorer.Params) (scorer.Result, error) {
		select {}
	})
	measure("bloats", func(*scorer.Input, scorer.Params) (scorer.Result, error) {
		var list [][]byte
		for {
			b := make([]byte, 16<<20)
			for i := range b {
				b[i] = 1
			}
			list = append(list, b)
		}
	})
	measure("recurses", func(*scorer.Input, scorer.Params) (scorer.Result, error) {
		return scorer.Value(float64(deeper(1)), ""), nil
	})
	measure("chance", chance)
	measure("remembers", remembers)
	measure("grows", func(*scorer.Input, scorer.Params) (scorer.Result, error) {
		b := make([]byte, 32<<20)
		return scorer.Measure(float64(len(b)), "bytes", 0, ""), nil
	})
	measure("prints", func(*scorer.Input, scorer.Params) (scorer.Result, error) {
		fmt.Println("to stdout")
		fmt.Fprintln(os.Stderr, "to stderr")
		scorer.Log(scorer.LevelWarn, "to the log")
		return scorer.Value(0, ""), nil
	})
	scorer.Register(scorer.Spec{
		Name: "asks", Role: eval.RoleJudge, Dimension: eval.DimensionQuality, Capabilities: []string{"test.echo/1"},
		Params: eval.Schema{Attributes: []eval.Attribute{{Name: "op", Type: "string", Required: true}}},
	}, func(_ *scorer.Input, p scorer.Params) (scorer.Result, error) {
		b, err := scorer.Call(p.String("op"), []byte("ping"))
		if err != nil {
			return scorer.Result{}, err
		}
		return scorer.Value(1, string(b)), nil
	})
}

func measure(name string, f scorer.Func, needs ...eval.Part) {
	scorer.Register(scorer.Spec{Name: name, Role: eval.RoleMeasure, Dimension: eval.DimensionPath, Needs: needs}, f)
}

func assert(name string, f scorer.Func, needs ...eval.Part) {
	scorer.Register(scorer.Spec{
		Name: name, Role: eval.RoleAssert, Dimension: eval.DimensionOutcome, Needs: needs,
		Params: eval.Schema{Attributes: []eval.Attribute{{Name: "text", Type: "string", Default: eval.JSON(`"done"`)}}},
	}, f)
}

func count(in *scorer.Input, _ scorer.Params) (scorer.Result, error) {
	calls := in.Calls()
	bytes := 0
	for i := range calls {
		bytes += len(calls[i].Result)
	}
	return scorer.Measure(float64(len(calls)), "calls", 1, fmt.Sprintf("%d calls, %d bytes, answer %q", len(calls), bytes, in.Answer)), nil
}

func contains(in *scorer.Input, p scorer.Params) (scorer.Result, error) {
	if text := p.String("text"); !strings.Contains(in.Answer, text) {
		return scorer.Fail(fmt.Sprintf("no %q in the answer", text)), nil
	}
	return scorer.Pass("found"), nil
}

func deeper(n int) int {
	if n == 0 {
		return 0
	}
	return deeper(n+1) + 1
}

// chance says everything that could differ from one call to the next.
func chance(*scorer.Input, scorer.Params) (scorer.Result, error) {
	m := map[int]bool{}
	for i := range 20 {
		m[i] = true
	}
	var b strings.Builder
	for k := range m {
		fmt.Fprint(&b, k, " ")
	}
	start := time.Now()
	time.Sleep(time.Hour)
	c, d := make(chan int, 1), make(chan int, 1)
	c <- 1
	d <- 2
	select {
	case v := <-c:
		fmt.Fprint(&b, v)
	case v := <-d:
		fmt.Fprint(&b, v)
	}
	fmt.Fprint(&b, " ", start.UnixNano(), time.Since(start), os.Environ(), os.Args)
	_, err := os.ReadFile("/etc/passwd")
	fmt.Fprint(&b, err)
	return scorer.Value(0, b.String()), nil
}

var calls int

// remembers counts the calls that it can see.
func remembers(*scorer.Input, scorer.Params) (scorer.Result, error) {
	calls++
	return scorer.Measure(float64(calls), "calls", 0, ""), nil
}

func main() {}
