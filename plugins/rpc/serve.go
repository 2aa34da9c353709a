package rpc

import (
	"io"
	"os"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/evalengine/evalengine/engine/eval"
)

// ServeHost serves h until the engine is done with it. It must be the last thing
// that main does: stdout belongs to it.
func ServeHost(h eval.Host) {
	life := newLifetime()
	Serve(KindHost, hostServices(&hostServer{host: h, life: life}), func() { life.end(drainTimeout) })
}

// ServeProvisioner serves p until the engine is done with it, and destroys the
// targets that are left. It must be the last thing that main does: stdout belongs
// to it.
func ServeProvisioner(p eval.Provisioner) {
	life := newLifetime()
	s := newProvisionerServer(p, life)
	Serve(KindProvisioner, provisionerServices(s), func() {
		life.end(drainTimeout)
		s.destroyAll(drainTimeout)
	})
}

func newProvisionerServer(p eval.Provisioner, life *lifetime) *provisionerServer {
	return &provisionerServer{prov: p, life: life, alive: map[string]bool{}}
}

// Serve serves the majors of a kind's protocol until the engine is done with the
// plugin, and then calls end. Authors use [ServeHost] and [ServeProvisioner], which
// serve all that there are.
func Serve(kind string, services []Service, end func()) {
	if os.Getenv(EnvLifetime) == "stdin" {
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin)
			end()
			os.Exit(0)
		}()
	}
	sayVersions(kind, services)
	plugin.Serve(&plugin.ServeConfig{
		HandshakeConfig:  Handshake(),
		VersionedPlugins: serviceSets(kind, services),
		GRPCServer:       newServer,
		Logger: hclog.New(&hclog.LoggerOptions{
			Output: os.Stderr, Level: hclog.Error, TimeFn: time.Now,
		}),
	})
	end()
}

// streamWorkers is how many goroutines with grown stacks wait for streams; with
// more streams than that, the others get goroutines of their own.
const streamWorkers = 8

func newServer(opts []grpc.ServerOption) *grpc.Server {
	return grpc.NewServer(append(opts,
		grpc.MaxRecvMsgSize(MaxMessage), grpc.MaxSendMsgSize(MaxMessage),
		grpc.StaticStreamWindowSize(window), grpc.StaticConnWindowSize(window),
		grpc.NumStreamWorkers(streamWorkers))...)
}
