{{- define "shout" }}{{ . | upper }}!{{ end }}
