package model

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/model/settings"
)

// keyVersion changes when what a key is made of does.
const keyVersion = 1

// decides is all of a request that decides its answer. Pictures are in it by
// their digests.
type decides struct {
	Version     int
	Provider    string
	SHA256      string
	Model       string
	API         string
	MaxTokens   int
	Temperature *float64
	Effort      string
	Structured  string
	// Config is that of a plugin: nobody else knows what of it counts.
	Config  eval.JSON
	Request *eval.ModelRequest
	Sample  int
}

// key is the digest of what decides the answer.
func (a *ask) key() string {
	q := *a.request
	q.Model = ""
	s := &a.block.set
	d := decides{
		Version: keyVersion, Provider: a.block.Provider, SHA256: a.block.SHA256, Model: a.block.ModelConfig.Model, API: s.API,
		MaxTokens: s.MaxTokens, Temperature: s.Temperature, Effort: s.Effort, Structured: s.Structured,
		Request: &q, Sample: a.sample,
	}
	if !builtIn(a.block.Provider) {
		d.Config = a.block.Config
	}
	return digest(d)
}

// scoped is the key of a stored answer: who may use it again is part of it.
func (s *Session) scoped(a *ask, key string) string {
	type scope struct{ Key, BaseURL, Run, Trial, Use string }
	of := scope{Key: key, BaseURL: a.block.set.BaseURL}
	if a.block.set.Cache != settings.CacheShared || s.o.Own {
		of.Run, of.Trial, of.Use = s.o.Run, s.o.Trial.ID(), a.use
	}
	return digest(of)
}

func digest(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // the types have nothing that cannot be written
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
