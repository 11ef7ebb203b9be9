{{- define "slipway.fullname" -}}
{{- if contains "slipway" .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-slipway" .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "slipway.selectorLabels" -}}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/name: slipway
{{- end -}}

{{- define "slipway.labels" -}}
{{ include "slipway.selectorLabels" . }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "slipway.serviceAccountName" -}}
{{- .Values.serviceAccount.name | default (ternary (include "slipway.fullname" .) "default" .Values.serviceAccount.create) -}}
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

{{/* The chosen operators, separated by commas. Known are those with permissions in files/rbac. */}}
{{- define "slipway.operators" -}}
{{- $known := list -}}
{{- range $path, $_ := .Files.Glob "files/rbac/*.yaml" -}}
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
