package index

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/evalengine/evalengine/engine/eval"
)

// Light takes out of a record what no summary, report, comparison or list of
// findings needs: the answer, the pages, the digests of files but the transcript's, the target's values,
// the evidence of scores and which model requests they made. Prompts become their
// digests, "sha256:" and hex, so that two can still be told apart. [Index.Records]
// yields records that are light, wherever they come from.
func Light(rec *eval.Record) *eval.Record {
	out := *rec
	out.Answer, out.Pages, out.Files = "", nil, nil
	for _, name := range []string{"transcript.jsonl", "transcript.jsonl.zst"} {
		if sum, ok := rec.Files[name]; ok {
			out.Files = map[string]string{name: sum}
		}
	}
	if rec.Target != nil {
		placed := *rec.Target
		placed.Values = nil
		out.Target = &placed
	}
	out.Prompts = nil
	for _, p := range rec.Prompts {
		sum := sha256.Sum256([]byte(p))
		out.Prompts = append(out.Prompts, "sha256:"+hex.EncodeToString(sum[:]))
	}
	out.Scores = nil
	for _, s := range rec.Scores {
		s.Evidence = nil
		if s.Judge != nil {
			j := *s.Judge
			j.Requests = nil
			s.Judge = &j
		}
		out.Scores = append(out.Scores, s)
	}
	return &out
}

var table = crc32.MakeTable(crc32.Castagnoli)

// encode returns a record's row: its bytes, their sum, and its definitions apart.
func encode(rec *eval.Record) (b []byte, sum int64, defs string, err error) {
	apart := *rec
	apart.Definitions = nil
	if len(rec.Definitions) > 0 {
		d, err := json.Marshal(rec.Definitions)
		if err != nil {
			return nil, 0, "", err
		}
		defs = string(d)
	}
	if b, err = json.Marshal(&apart); err != nil {
		return nil, 0, "", err
	}
	return b, int64(crc32.Checksum(b, table)), defs, nil
}

func decode(b []byte, sum int64) (*eval.Record, error) {
	if int64(crc32.Checksum(b, table)) != sum {
		return nil, errDamaged
	}
	var rec eval.Record
	if err := json.Unmarshal(b, &rec); err != nil {
		return nil, fmt.Errorf("%w: %w", errDamaged, err)
	}
	return &rec, nil
}

// definitions are those that were read, by number.
type definitions map[int64][]eval.Definition

// number returns the number of definitions, 0 for none, and keeps them where they
// are new.
func number(ctx context.Context, tx *sql.Tx, text string) (n int64, err error) {
	if text == "" {
		return 0, nil
	}
	err = tx.QueryRowContext(ctx, "SELECT n FROM definitions WHERE text = ?", text).Scan(&n)
	if !errors.Is(err, sql.ErrNoRows) {
		return n, err
	}
	res, err := tx.ExecContext(ctx, "INSERT INTO definitions (text) VALUES (?)", text)
	if err != nil {
		return 0, err
	}
	return res.LastInsertId()
}

// fill gives records their definitions, which they share with others.
func (d definitions) fill(ctx context.Context, db *sql.DB, rec *eval.Record, n int64) error {
	if n == 0 {
		return nil
	}
	list, ok := d[n]
	if !ok {
		var text string
		if err := db.QueryRowContext(ctx, "SELECT text FROM definitions WHERE n = ?", n).Scan(&text); err != nil {
			if errors.Is(err, sql.ErrNoRows) {
				return errDamaged
			}
			return err
		}
		if err := json.Unmarshal([]byte(text), &list); err != nil {
			return fmt.Errorf("%w: %w", errDamaged, err)
		}
		d[n] = list
	}
	rec.Definitions = list
	return nil
}
