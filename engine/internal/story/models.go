package story

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/evalengine/evalengine/engine/eval"
)

// modelBlock is a model block before its config is known.
type modelBlock struct {
	block    *hclsyntax.Block
	provider hcl.Range
	pin      pin
	config   eval.ModelConfig
}

// decodeModels reads the model blocks without their config.
func (l *loader) decodeModels() {
	for _, name := range l.order.models {
		b := l.models[name]
		attrs, _ := l.content(b.Body, &modelBody, b.DefRange())
		m := &modelBlock{block: b, provider: attrRange(attrs["provider"], b)}
		m.config = eval.ModelConfig{Name: name, Source: toSource(b.DefRange()), Config: eval.JSON("{}")}
		m.config.Provider, _ = l.filledAttr(attrs["provider"], l.root)
		m.config.Model, _ = l.filledAttr(attrs["name"], l.root)
		m.config.SHA256, m.pin = l.pinAttr(attrs["sha256"])
		l.declaredModels = append(l.declaredModels, m)
	}
}

// judged says whether a story asks a model; else no provider is asked what it
// takes.
func judged(stories []*storyBlock) bool {
	return slices.ContainsFunc(stories, func(st *storyBlock) bool {
		return slices.ContainsFunc(st.uses(), func(b *hclsyntax.Block) bool {
			return b.Body.Attributes["model"] != nil || b.Body.Attributes["models"] != nil
		})
	})
}

// configureModels checks the models' settings against what their providers take.
func (l *loader) configureModels(stories []*storyBlock) {
	used := judged(stories)
	for _, m := range l.declaredModels {
		switch {
		case m.config.Provider == "" || m.pin.unreadable:
		case used:
			l.configureModel(m)
		default:
			if c := nested(m.block, "config"); c != nil {
				m.config.Config = l.freeConfig(c)
			}
		}
		l.suite.Models = append(l.suite.Models, m.config)
	}
}

func (l *loader) configureModel(m *modelBlock) {
	key := modelKey(m.config.Provider, m.config.SHA256)
	a := l.catalog.answer(key)
	if a.err != nil {
		l.missing(m.pin.at(m.provider, a.err), "provider of models", m.config.Provider, a.err, l.catalog.from.ModelNames())
		return
	}
	m.config.Config = l.pluginConfig(m.block, m.provider, key, "provider", m.config.Provider, a.description.Schema)
	if m.config.Config == nil || m.config.Model == "" {
		return
	}
	if err := l.catalog.from.CheckModel(m.config); err != nil {
		rng := m.block.DefRange()
		if c := nested(m.block, "config"); c != nil {
			rng = c.DefRange()
		}
		l.found.fail(rng, "wrong settings of a model", "%s.", upperFirst(err.Error()))
	}
}
