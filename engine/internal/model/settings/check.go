package settings

import (
	"errors"
	"fmt"
	"math"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"time"
)

var envName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// check says what is wrong with filled settings.
func (s *Settings) check(provider string) error {
	if err := s.checkURL(provider); err != nil {
		return err
	}
	d, err := time.ParseDuration(s.Timeout)
	switch {
	case err != nil || d <= 0 || d > MaxTimeout:
		return fmt.Errorf("timeout %q: it must be a duration above 0 and at most %v, such as \"90s\"", s.Timeout, MaxTimeout)
	case s.MaxTokens < 1 || s.MaxTokens > MaxMaxTokens:
		return fmt.Errorf("max_tokens is %d: it must be from 1 to %d", s.MaxTokens, MaxMaxTokens)
	case *s.Retries < 0 || *s.Retries > MaxRetries:
		return fmt.Errorf("retries is %d: it must be from 0 to %d", *s.Retries, MaxRetries)
	case s.Temperature != nil && !(*s.Temperature >= 0 && *s.Temperature <= 2):
		return fmt.Errorf("temperature is %v: it must be from 0 to 2", *s.Temperature)
	case s.KeyEnv != "" && !envName.MatchString(s.KeyEnv):
		return errors.New("api_key_env must be the name of an environment variable, not the key itself")
	case !slices.Contains([]string{CacheOff, CacheTrial, CacheShared}, s.Cache):
		return fmt.Errorf("cache %q: it must be off, trial or shared", s.Cache)
	case !slices.Contains([]string{StructuredAuto, StructuredNative, StructuredWords}, s.Structured):
		return fmt.Errorf("structured %q: it must be auto, native or words", s.Structured)
	}
	return s.checkPrice()
}

func (s *Settings) checkURL(provider string) error {
	if provider == Compatible && s.BaseURL == "" {
		return errors.New(`base_url is missing: say where the model is served, such as "http://127.0.0.1:11434/v1"`)
	}
	if provider == OpenAI && s.API != Responses && s.API != Chat {
		return fmt.Errorf("api %q: it must be responses or chat", s.API)
	}
	if s.BaseURL == "" {
		return nil
	}
	u, err := url.Parse(s.BaseURL)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("base_url %q: it must be an http or https URL", s.BaseURL)
	case u.User != nil:
		return errors.New("base_url has a user or password in it: put the key into the variable that api_key_env names")
	case u.RawQuery != "" || u.Fragment != "":
		return fmt.Errorf("base_url %q: it must have no query and no fragment", s.BaseURL)
	}
	return nil
}

func (s *Settings) checkPrice() error {
	p := s.Price
	if p == nil {
		return nil
	}
	if p.Input == nil || p.Output == nil {
		return errors.New("price must have both input and output, in US dollars for a million tokens")
	}
	for _, usd := range []*float64{p.Input, p.Output, p.CacheRead, p.CacheWrite} {
		if usd != nil && (!(*usd >= 0) || math.IsInf(*usd, 0)) {
			return fmt.Errorf("price is %v: it must be 0 or above", *usd)
		}
	}
	return nil
}

func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	a, err := netip.ParseAddr(host)
	return err == nil && a.IsLoopback()
}
