// Package settings knows what a model block may say of a provider that is part
// of the engine, and what it means.
package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
)

// Providers that are part of the engine.
const (
	Anthropic  = "anthropic"
	OpenAI     = "openai"
	Compatible = "openai-compatible"
)

// Wire protocols of OpenAI, attribute api.
const (
	Responses = "responses"
	Chat      = "chat"
)

// How answers are shared, attribute cache.
const (
	CacheOff    = "off"
	CacheTrial  = "trial"
	CacheShared = "shared"
)

// How a provider is told of a schema, attribute structured.
const (
	StructuredAuto   = "auto"
	StructuredNative = "native"
	StructuredWords  = "words"
)

// Defaults and bounds.
const (
	DefaultMaxTokens = 8192
	MaxMaxTokens     = 1 << 20
	DefaultTimeout   = 2 * time.Minute
	MaxTimeout       = time.Hour
	DefaultRetries   = 4
	MaxRetries       = 20
)

// Settings are a model block's attributes. The zero value of each means what
// [Settings.Fill] puts in its place.
type Settings struct {
	BaseURL     string   `json:"base_url"`
	API         string   `json:"api"`
	KeyEnv      string   `json:"api_key_env"`
	MaxTokens   int      `json:"max_tokens"`
	Temperature *float64 `json:"temperature"`
	Effort      string   `json:"effort"`
	Timeout     string   `json:"timeout"`
	Stream      bool     `json:"stream"`
	Retries     *int     `json:"retries"`
	Structured  string   `json:"structured"`
	Cache       string   `json:"cache"`
	// Price goes before the engine's list of the vendors' prices.
	Price *Price `json:"price"`
}

// Price is in US dollars for a million tokens. Cache tokens cost what input costs
// where nothing is said of them.
type Price struct {
	Input      *float64 `json:"input"`
	Output     *float64 `json:"output"`
	CacheRead  *float64 `json:"cache_read"`
	CacheWrite *float64 `json:"cache_write"`
}

// Strict reads the config of a provider that is part of the engine: an attribute
// that it does not have is an error.
func Strict(provider string, config eval.JSON) (Settings, error) {
	var s Settings
	if len(config) > 0 {
		d := json.NewDecoder(bytes.NewReader(config))
		d.DisallowUnknownFields()
		if err := d.Decode(&s); err != nil {
			return s, fmt.Errorf("config: %w", err)
		}
		if _, err := d.Token(); !errors.Is(err, io.EOF) {
			return s, errors.New("config: more than one JSON value")
		}
	}
	s.Fill(provider)
	return s, s.check(provider)
}

// Lenient reads what it knows of the config of a provider that is a plugin: an
// attribute of that name has that meaning, all others are the plugin's own.
func Lenient(provider string, config eval.JSON) (Settings, error) {
	var s Settings
	if len(config) > 0 {
		if err := json.Unmarshal(config, &s); err != nil {
			return s, fmt.Errorf("config: %w", err)
		}
	}
	s.Fill(provider)
	return s, s.check(provider)
}

// Fill puts defaults where nothing is said.
func (s *Settings) Fill(provider string) {
	base, api, keyEnv := defaults(provider)
	if s.BaseURL == "" {
		s.BaseURL = base
	} else if s.KeyEnv == "" && s.Loopback() {
		keyEnv = "" // a key goes to a model on this machine only where the suite says so
	}
	set(&s.API, api)
	set(&s.KeyEnv, keyEnv)
	set(&s.Structured, StructuredAuto)
	set(&s.Cache, CacheTrial)
	set(&s.Timeout, DefaultTimeout.String())
	if s.MaxTokens == 0 {
		s.MaxTokens = DefaultMaxTokens
	}
	if s.Retries == nil {
		n := DefaultRetries
		s.Retries = &n
	}
}

func defaults(provider string) (base, api, keyEnv string) {
	switch provider {
	case Anthropic:
		return "https://api.anthropic.com", "", "ANTHROPIC_API_KEY"
	case OpenAI:
		return "https://api.openai.com/v1", Responses, "OPENAI_API_KEY"
	case Compatible:
		return "", Chat, ""
	}
	return "", "", ""
}

func set(s *string, to string) {
	if *s == "" {
		*s = to
	}
}

// Loopback reports whether the model is on this machine.
func (s *Settings) Loopback() bool {
	u, err := url.Parse(s.BaseURL)
	return err == nil && loopback(u.Hostname())
}

// Duration is the timeout of one call.
func (s *Settings) Duration() time.Duration {
	d, _ := time.ParseDuration(s.Timeout)
	return d
}
