package metrics

import (
	"bufio"
	"io"
	"strconv"
	"strings"
)

// ContentType is the media type of what Write writes.
const ContentType = "text/plain; version=0.0.4; charset=utf-8"

// Write writes samples in Prometheus's text format: those of one family together, families in their order, and
// none that has no sample. Samples of other names are left out. Its error is the writer's.
func Write(w io.Writer, families []Family, samples []Sample) error {
	of := map[string][]Sample{}
	for _, s := range samples {
		of[s.Name] = append(of[s.Name], s)
	}
	out := bufio.NewWriter(w)
	for _, f := range families {
		if len(of[f.Name]) == 0 {
			continue
		}
		_, _ = out.WriteString("# HELP " + f.Name + " " + helpEscapes.Replace(f.Help) + "\n# TYPE " + f.Name + " " +
			string(f.Kind) + "\n")
		for _, s := range of[f.Name] {
			writeSample(out, f, s)
		}
	}
	return out.Flush()
}

var (
	helpEscapes  = strings.NewReplacer(`\`, `\\`, "\n", `\n`)
	valueEscapes = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)
)

func writeSample(out *bufio.Writer, f Family, s Sample) {
	if s.Histogram == nil {
		writeValue(out, f.Name, f.Labels, s.Labels, s.Value)
		return
	}
	names := append(append([]string{}, f.Labels...), "le")
	total := uint64(0)
	for i, n := range s.Histogram.Counts {
		total += n
		bound := "+Inf"
		if i < len(s.Histogram.Bounds) {
			bound = number(s.Histogram.Bounds[i])
		}
		writeValue(out, f.Name+"_bucket", names, append(append([]string{}, s.Labels...), bound), float64(total))
	}
	writeValue(out, f.Name+"_sum", f.Labels, s.Labels, s.Histogram.Sum)
	writeValue(out, f.Name+"_count", f.Labels, s.Labels, float64(total))
}

// writeValue writes a line. The writer keeps its first error until Flush.
func writeValue(out *bufio.Writer, name string, labels, values []string, v float64) {
	_, _ = out.WriteString(name)
	for i, label := range labels {
		before := ","
		if i == 0 {
			before = "{"
		}
		_, _ = out.WriteString(before + label + `="` + valueEscapes.Replace(values[i]) + `"`)
	}
	if len(labels) > 0 {
		_, _ = out.WriteString("}")
	}
	_, _ = out.WriteString(" " + number(v) + "\n")
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
