# bash completion of gridplan
_gridplan()
{
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}
    case $before in
    --auth) COMPREPLY=($(compgen -W 'auto on off' -- "$word")); return ;;
    --auto-models) COMPREPLY=($(compgen -W 'true false' -- "$word")); return ;;
    --db-prepared-statements) COMPREPLY=($(compgen -W 'true false' -- "$word")); return ;;
    --docs) COMPREPLY=($(compgen -W 'true false' -- "$word")); return ;;
    --load-partition) COMPREPLY=($(compgen -W 'month day' -- "$word")); return ;;
    --log-level) COMPREPLY=($(compgen -W 'debug info warning error' -- "$word")); return ;;
    --metrics-names) COMPREPLY=($(compgen -W 'new both' -- "$word")); return ;;
    --readiness-without-database) COMPREPLY=($(compgen -W 'true false' -- "$word")); return ;;
    --rollups) COMPREPLY=($(compgen -W 'auto on off' -- "$word")); return ;;
    --ui) COMPREPLY=($(compgen -W 'true false' -- "$word")); return ;;
    --color) COMPREPLY=($(compgen -W 'auto always never' -- "$word")); return ;;
    --compare) COMPREPLY=($(compgen -f -- "$word")); return ;;
    --breaks) COMPREPLY=($(compgen -f -- "$word")); return ;;
    --key-file) COMPREPLY=($(compgen -f -- "$word")); return ;;
    --out) COMPREPLY=($(compgen -f -- "$word")); return ;;
    --save) COMPREPLY=($(compgen -f -- "$word")); return ;;
    --scopes) COMPREPLY=($(compgen -W 'decide ingest admin read' -- "$word")); return ;;
    --unix) COMPREPLY=($(compgen -f -- "$word")); return ;;
    esac
    if [ "$COMP_CWORD" = 1 ] && [[ $word != -* ]]; then
        COMPREPLY=($(compgen -W 'help serve migrate key tenant health ask explain errors algorithms docs man completion openapi simulate slurm' -- "$word"))
    elif [[ $word == -* ]]; then
        COMPREPLY=($(compgen -W '--check-config --color --compare --breaks --endpoint --expand --expires-days --gantt --help --json --key-file --label --out --profile --ready --save --scopes --set --strict --svg --table --tenant --unix --url --version --width --admin-bind --admin-port --allowed-hosts --auth --auto-models --auto-models-max --bind --body-bytes-per-s --body-memory-ratio --body-timeout-s --compute-queue-length --compute-threads --compute-workers --connections-per-address --cors-origins --cws-mount --database --db-pool-size --db-prepared-statements --db-statement-timeout-s --db-wait-s --docs --facades --fair-quantum-s --frame-ancestors --header-timeout-s --idempotency-lease-s --io-threads --k8s-snapshot-id --keepalive-timeout-s --load-partition --log-level --max-body-bytes --max-connections --max-upload-bytes --memory-bytes --metrics-names --partitions-ahead-months --port --public-url --query-queue-length --query-workers --queue-wait-s --rate-burst-count --rate-limit-per-s --readiness-without-database --request-memory-bytes --retention-checkpoint-logs-days --retention-claim-attempts-days --retention-decisions-days --retention-executions-days --retention-failures-days --retention-load-rollup-3600-days --retention-load-rollup-60-days --retention-load-rollup-86400-days --retention-load-samples-days --retention-progress-samples-days --retention-reschedule-events-days --retention-simulations-days --retention-site-errors-days --retention-transfers-days --retention-workflow-sessions-days --rollups --shutdown-grace-s --simulation-jobs-max --simulation-lease-s --simulation-resources-max --simulation-time-limit-s --simulations-at-once --tenant-memory-ratio --tenant-queue-length --time-limit-max-s --total-body-bytes --trusted-proxies --ui --unix-socket --unknown-keys-per-address-per-s --workflow-session-events --workflow-session-tasks --workflow-session-waits --workflow-sessions' -- "$word"))
    else
        COMPREPLY=($(compgen -f -- "$word"))
    fi
}
complete -o filenames -F _gridplan gridplan
