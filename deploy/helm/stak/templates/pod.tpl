{{- define "stak.name" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 63 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "stak.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "stak.labels" -}}
{{ include "stak.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{- define "stak.serviceAccount" -}}
{{- if .Values.serviceAccount.name -}}
{{- .Values.serviceAccount.name -}}
{{- else if .Values.serviceAccount.create -}}
{{- include "stak.name" . -}}
{{- else -}}
default
{{- end -}}
{{- end -}}

{{- define "stak.pod" -}}
metadata:
  labels:
    {{- include "stak.labels" . | nindent 4 }}
  {{- with .Values.podAnnotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  # Kubernetes would set STAK_PORT and others to the addresses of services.
  enableServiceLinks: false
  serviceAccountName: {{ include "stak.serviceAccount" . }}
  {{- with .Values.imagePullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  # The server has 25 seconds more than it drains.
  terminationGracePeriodSeconds: {{ add .Values.drainSeconds 30 }}
  securityContext:
    runAsNonRoot: true
    runAsUser: 1000
    runAsGroup: 1000
    fsGroup: 1000
    seccompProfile:
      type: RuntimeDefault
  containers:
    - name: stak
      image: "{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}"
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities:
          drop: [ALL]
      ports:
        - name: http
          containerPort: 8787
        - name: metrics
          containerPort: {{ .Values.metrics.port }}
      env:
        - name: STAK_ENV
          value: production
        - name: STAK_HOST
          value: 0.0.0.0
        - name: STAK_PORT
          value: "8787"
        - name: STAK_PUBLIC_URL
          value: {{ required "publicUrl says where the server is reached" .Values.publicUrl | quote }}
        - name: STAK_TRUSTED_PROXY_HOPS
          value: {{ .Values.trustedProxyHops | quote }}
        - name: STAK_DRAIN_SECONDS
          value: {{ .Values.drainSeconds | quote }}
        - name: STAK_METRICS_ADDRESS
          value: "0.0.0.0:{{ .Values.metrics.port }}"
        - name: STAK_STORE
          value: {{ .Values.store.kind | quote }}
        {{- if eq .Values.store.kind "aws" }}
        - name: STAK_AWS_REGION
          value: {{ .Values.store.region | quote }}
        {{- end }}
        {{- if .Values.store.tablePrefix }}
        - name: STAK_TABLE_PREFIX
          value: {{ .Values.store.tablePrefix | quote }}
        {{- end }}
        {{- range $name, $value := .Values.env }}
        - name: {{ $name }}
          value: {{ $value | quote }}
        {{- end }}
      envFrom:
        - secretRef:
            name: {{ required "existingSecret names the Secret with STAK_SECRET_KEYS" .Values.existingSecret }}
      startupProbe:
        httpGet: { path: /readyz, port: http }
        periodSeconds: 2
        timeoutSeconds: 3
        failureThreshold: 150
      readinessProbe:
        httpGet: { path: /readyz, port: http }
        periodSeconds: 3
        timeoutSeconds: 3
        failureThreshold: 2
      livenessProbe:
        httpGet: { path: /healthz, port: http }
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 6
      resources:
        {{- toYaml .Values.resources | nindent 8 }}
      volumeMounts:
        - name: data
          mountPath: /data
        - name: tmp
          mountPath: /tmp
  volumes:
    - name: tmp
      emptyDir: {}
    {{- if eq .Values.store.kind "aws" }}
    - name: data
      emptyDir: {}
    {{- end }}
  {{- with .Values.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}
