#!/usr/bin/env bash
# Makes Go and JSON Schemas from the protos. The generators come from
# tools/go.mod and are built into the folder given as the only argument.
set -euo pipefail
bin=$(mkdir -p "$1" && cd "$1" && pwd)
cd "$(dirname "$0")"
GOBIN=$bin go install -modfile=tools/go.mod tool
export PATH=$bin:$PATH
buf generate
rm -rf schemas
buf generate --template buf.gen.schemas.yaml --path evalengine/file
for pair in Run:run TrialRecord:trial Rescore:rescore Step:step State:state Tool:tool Summary:summary JudgeCall:judge GoldInfo:gold GoldGrades:grades Comparison:comparison Noise:noise FindingHistory:findings FindingDelta:finding-delta Triage:triage Coverage:coverage Nightly:nightly Baseline:baseline Suggestions:suggestions; do
  mv "schemas/all/evalengine.file.v1.${pair%%:*}.schema.bundle.json" "schemas/${pair#*:}.schema.json"
done
rm -r schemas/all
