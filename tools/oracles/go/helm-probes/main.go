// Renders template snippets with Helm's own engine. Reads one JSON object a line, answers one a line:
// {"template": "...", "values": {...}} → {"output": "..."} or {"error": "..."}.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/engine"
)

type question struct {
	Template string          `json:"template"`
	Values   json.RawMessage `json:"values"`
}

type answer struct {
	Output []byte `json:"output,omitempty"`
	Error  string `json:"error,omitempty"`
}

func render(q question) (a answer) {
	defer func() {
		if r := recover(); r != nil {
			a = answer{Error: fmt.Sprint("panic: ", r)}
		}
	}()
	values := map[string]any{}
	if len(q.Values) > 0 {
		if err := json.Unmarshal(q.Values, &values); err != nil {
			return answer{Error: err.Error()}
		}
	}
	ch := &chart.Chart{
		Metadata: &chart.Metadata{APIVersion: "v2", Name: "probe", Version: "1.2.3", AppVersion: "4.5"},
		Templates: []*common.File{
			{Name: "templates/t", Data: []byte(q.Template)},
			{Name: "templates/_h", Data: []byte(`{{ define "h" }}<{{ . }}>{{ end }}{{ define "loop" }}{{ include "loop" . }}{{ end }}`)},
		},
		Files: []*common.File{{Name: "conf/a.txt", Data: []byte("one\ntwo\n")}, {Name: "conf/b.json", Data: []byte("{}")}},
	}
	options := common.ReleaseOptions{Name: "rel", Namespace: "ns", Revision: 1, IsInstall: true}
	top, err := util.ToRenderValues(ch, values, options, common.DefaultCapabilities)
	if err != nil {
		return answer{Error: err.Error()}
	}
	files, err := engine.Render(ch, top)
	if err != nil {
		return answer{Error: err.Error()}
	}
	return answer{Output: []byte(files["probe/templates/t"])}
}

func main() {
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := json.NewEncoder(os.Stdout)
	for {
		line, err := in.ReadBytes('\n')
		if len(line) > 1 {
			var q question
			if err := json.Unmarshal(line, &q); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			if err := out.Encode(render(q)); err != nil {
				os.Exit(1)
			}
		}
		if err != nil {
			return
		}
	}
}
