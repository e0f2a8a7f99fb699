from pkg.sub.deeper import deep
