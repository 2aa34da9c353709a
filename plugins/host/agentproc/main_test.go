package agentproc

import (
	"os"
	"testing"

	"github.com/evalengine/evalengine/internal/proc"
)

func TestMain(m *testing.M) {
	proc.Keeper()
	os.Exit(m.Run())
}
