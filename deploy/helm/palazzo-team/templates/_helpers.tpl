{{- define "palazzo-team.labels" -}}
app.kubernetes.io/name: palazzo-team
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "palazzo-team.container" -}}
image: "{{ .Values.image.repository }}:{{ .Values.image.tag }}"
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
env:
  - name: PALAZZO_TEAM_DATABASE
    value: {{ .Values.database.url | quote }}
  - name: PGPASSWORD
    valueFrom:
      secretKeyRef:
        name: {{ .Values.database.passwordSecret }}
        key: {{ .Values.database.passwordKey }}
  - name: HOME
    value: /tmp
  {{- if .Values.metrics.tokenSecret }}
  - name: PALAZZO_TEAM_METRICS_TOKEN
    valueFrom:
      secretKeyRef:
        name: {{ .Values.metrics.tokenSecret }}
        key: {{ .Values.metrics.tokenKey }}
  {{- end }}
  {{- if and .signsOn .Values.signOn.settings }}
  - name: PALAZZO_TEAM_SIGN_ON
    value: /etc/palazzo/sign-on.toml
  {{- end }}
  {{- if and .signsOn .Values.signOn.clientSecret }}
  - name: PALAZZO_TEAM_SIGN_ON_SECRET
    valueFrom:
      secretKeyRef:
        name: {{ .Values.signOn.clientSecret }}
        key: {{ .Values.signOn.clientSecretKey }}
  {{- end }}
volumeMounts:
  - {name: scratch, mountPath: /var/cache/palazzo}
  - {name: temporary, mountPath: /tmp}
  {{- if and .signsOn .Values.signOn.settings }}
  - {name: sign-on, mountPath: /etc/palazzo}
  {{- end }}
{{- end }}

{{- define "palazzo-team.pod" -}}
automountServiceAccountToken: false
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  fsGroup: 10001
  seccompProfile: {type: RuntimeDefault}
{{- end }}

{{- define "palazzo-team.probes" -}}
startupProbe:
  httpGet: {path: /healthz, port: http}
  failureThreshold: 30
livenessProbe:
  httpGet: {path: /healthz, port: http}
readinessProbe:
  httpGet: {path: /readyz, port: http}
ports:
  - {name: http, containerPort: 8379}
{{- end }}
