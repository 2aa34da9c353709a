package rpc

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/evalengine/evalengine/engine/eval"
	hostv1 "github.com/evalengine/evalengine/proto/evalengine/host/v1"
	modelv1 "github.com/evalengine/evalengine/proto/evalengine/model/v1"
	provisionerv1 "github.com/evalengine/evalengine/proto/evalengine/provisioner/v1"
)

// Protocol is one major version of a kind's protocol in the engine.
type Protocol struct {
	// Major is that of the proto package.
	Major int
	// Client returns the engine's half on a connection to the plugin of that name:
	// an [eval.Host], an [eval.Provisioner] or an [eval.ModelProvider].
	Client func(name string, conn grpc.ClientConnInterface) any
}

// Service is one major version of a kind's protocol in a plugin.
type Service struct {
	Major int
	// Register adds the plugin's half to the server.
	Register func(*grpc.Server)
}

// Protocols lists the majors of a kind that this engine speaks, the lowest first.
// A major that is left out is one whose plugins are no longer started.
func Protocols(kind string) []Protocol {
	switch kind {
	case KindHost:
		return []Protocol{{1, func(name string, conn grpc.ClientConnInterface) any { return NewHost(name, conn) }}}
	case KindProvisioner:
		return []Protocol{{1, func(name string, conn grpc.ClientConnInterface) any { return NewProvisioner(name, conn) }}}
	case KindModel:
		return []Protocol{{1, func(name string, conn grpc.ClientConnInterface) any { return NewModel(name, conn) }}}
	}
	return nil
}

// HostServices are the majors that [ServeHost] serves, for one that serves others too.
func HostServices(h eval.Host) []Service {
	return hostServices(&hostServer{host: h, life: newLifetime()})
}

func hostServices(h *hostServer) []Service {
	return []Service{{1, func(s *grpc.Server) { hostv1.RegisterHostServiceServer(s, h) }}}
}

func provisionerServices(p *provisionerServer) []Service {
	return []Service{{1, func(s *grpc.Server) { provisionerv1.RegisterProvisionerServiceServer(s, p) }}}
}

func modelServices(m *modelServer) []Service {
	return []Service{{1, func(s *grpc.Server) { modelv1.RegisterModelServiceServer(s, m) }}}
}

// client and service are the entries of go-plugin's plugin sets, in the engine and
// in a plugin.
type client struct {
	plugin.NetRPCUnsupportedPlugin
	name string
	of   Protocol
}

type service struct {
	plugin.NetRPCUnsupportedPlugin
	of Service
}

var _, _ plugin.GRPCPlugin = (*client)(nil), (*service)(nil)

func (c *client) GRPCClient(_ context.Context, _ *plugin.GRPCBroker, conn *grpc.ClientConn) (any, error) {
	return c.of.Client(c.name, conn), nil
}

func (c *client) GRPCServer(*plugin.GRPCBroker, *grpc.Server) error {
	return fmt.Errorf("%s: the engine serves no plugin", c.name)
}

func (s *service) GRPCServer(_ *plugin.GRPCBroker, srv *grpc.Server) error {
	s.of.Register(srv)
	return nil
}

func (s *service) GRPCClient(context.Context, *plugin.GRPCBroker, *grpc.ClientConn) (any, error) {
	return nil, fmt.Errorf("a plugin is no client")
}

func clientSets(c Command) map[int]plugin.PluginSet {
	sets := map[int]plugin.PluginSet{}
	for _, p := range c.Protocols {
		sets[p.Major] = plugin.PluginSet{c.Kind: &client{name: c.Name, of: p}}
	}
	return sets
}

func serviceSets(kind string, list []Service) map[int]plugin.PluginSet {
	sets := map[int]plugin.PluginSet{}
	for _, s := range list {
		sets[s.Major] = plugin.PluginSet{kind: &service{of: s}}
	}
	return sets
}

func majors(list []Protocol) []int {
	var out []int
	for _, p := range list {
		out = append(out, p.Major)
	}
	slices.Sort(out)
	return out
}

// spell writes majors as a sentence does: 1, 2 and 4.
func spell(list []int) string {
	var words []string
	for _, n := range list {
		words = append(words, strconv.Itoa(n))
	}
	if n := len(words); n > 1 {
		return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
	}
	return strings.Join(words, "")
}

// sayVersions tells all versions of a plugin on stderr where the engine has none of
// them: the handshake names one alone.
func sayVersions(kind string, list []Service) {
	var ours []int
	for _, s := range list {
		ours = append(ours, s.Major)
	}
	slices.Sort(ours)
	theirs := os.Getenv("PLUGIN_PROTOCOL_VERSIONS")
	if theirs == "" {
		return // no engine started it
	}
	for v := range strings.SplitSeq(theirs, ",") {
		if n, err := strconv.Atoi(v); err == nil && slices.Contains(ours, n) {
			return
		}
	}
	fmt.Fprintf(os.Stderr, "it speaks %s protocol %s, the engine %s\n", kind, spell(ours), theirs)
}
