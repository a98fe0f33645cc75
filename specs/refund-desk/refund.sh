# Pays back: ORDER AMOUNT REASON SECONDS. The ledger stands in for the bank: one line a refund.
# SECONDS is how long the bank takes to confirm what it has done already.
set -eu
printf '%s\t%s\t%s\n' "$1" "$2" "$3" >> ledger.tsv
sleep "$4"
echo "paid back $2 EUR for order $1"
