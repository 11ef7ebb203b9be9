{{- define "slipway.fullname" -}}
{{- if contains "slipway" .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-slipway" .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* What belongs to one operator gets a dict: `root` is the chart's own scope, `operator` a name. */}}
{{- define "slipway.workloadName" -}}
{{- printf "%s-%s" (include "slipway.fullname" .root) .operator -}}
{{- end -}}

{{- define "slipway.selectorLabels" -}}
app.kubernetes.io/component: {{ .operator }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/name: slipway
{{- end -}}

{{- define "slipway.labels" -}}
{{ include "slipway.selectorLabels" . }}
{{ include "slipway.releaseLabels" .root }}
{{- end -}}

{{- define "slipway.releaseLabels" -}}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "slipway.serviceAccountName" -}}
{{- $own := ternary (include "slipway.workloadName" .) "default" .root.Values.serviceAccount.create -}}
{{- get .root.Values.serviceAccount.names .operator | default $own -}}
{{- end -}}

{{- define "slipway.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}
{{ .repository }}@{{ .digest }}
{{- else -}}
{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* The chosen operators, separated by commas. Known are those in files/operators. */}}
{{- define "slipway.operators" -}}
{{- $known := list -}}
{{- range $path, $_ := .Files.Glob "files/operators/*.yaml" -}}
{{- $known = append $known (trimSuffix ".yaml" (base $path)) -}}
{{- end -}}
{{- $chosen := .Values.operators | default $known -}}
{{- range $chosen -}}
{{- if not (has . $known) -}}
{{- fail (printf "operators: there is no operator '%s'; known operators: %s" . (join ", " $known)) -}}
{{- end -}}
{{- end -}}
{{- join "," $chosen -}}
{{- end -}}
